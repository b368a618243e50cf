import { describeOperators } from '../testing/describe-operators.ts';
import { SIGNAL_OPS } from './signal-ops.ts';

describeOperators(SIGNAL_OPS);
