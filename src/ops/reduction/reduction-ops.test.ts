import { describeOperators } from '../testing/describe-operators.ts';
import { REDUCTION_OPS } from './reduction-ops.ts';

describeOperators(REDUCTION_OPS);
