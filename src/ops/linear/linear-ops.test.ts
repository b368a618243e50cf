import { describeOperators } from '../testing/describe-operators.ts';
import { LINEAR_OPS } from './linear-ops.ts';

describeOperators(LINEAR_OPS);
