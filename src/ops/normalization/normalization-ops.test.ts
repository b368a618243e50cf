import { describeOperators } from '../testing/describe-operators.ts';
import { NORMALIZATION_OPS } from './normalization-ops.ts';

describeOperators(NORMALIZATION_OPS);
