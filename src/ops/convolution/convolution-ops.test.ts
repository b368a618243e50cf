import { describeOperators } from '../testing/describe-operators.ts';
import { CONVOLUTION_OPS } from './convolution-ops.ts';

describeOperators(CONVOLUTION_OPS);
