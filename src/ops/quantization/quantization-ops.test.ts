import { describeOperators } from '../testing/describe-operators.ts';
import { QUANTIZATION_OPS } from './quantization-ops.ts';

describeOperators(QUANTIZATION_OPS);
