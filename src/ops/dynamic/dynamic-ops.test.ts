import { describeOperators } from '../testing/describe-operators.ts';
import { DYNAMIC_OPS } from '../tables/core-operators.ts';

describeOperators(DYNAMIC_OPS);
