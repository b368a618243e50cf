import { describeOperators } from '../testing/describe-operators.ts';
import { RECURRENT_OPS } from './recurrent-ops.ts';

describeOperators(RECURRENT_OPS);
