import { describeOperators } from '../testing/describe-operators.ts';
import { SPATIAL_OPS } from './spatial-ops.ts';

describeOperators(SPATIAL_OPS);
