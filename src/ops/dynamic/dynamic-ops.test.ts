import { describeOperators } from '../testing/describe-operators.ts';
import { DYNAMIC_OPS } from './dynamic-ops.ts';

describeOperators(DYNAMIC_OPS);
