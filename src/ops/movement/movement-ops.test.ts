import { describeOperators } from '../testing/describe-operators.ts';
import { MOVEMENT_OPS } from './movement-ops.ts';

describeOperators(MOVEMENT_OPS);
