import { describeOperators } from '../testing/describe-operators.ts';
import { ELEMENTWISE_OPS } from './elementwise-ops.ts';

describeOperators(ELEMENTWISE_OPS);
