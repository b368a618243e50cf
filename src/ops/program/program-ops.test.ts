import { describeOperators } from '../testing/describe-operators.ts';
import { PROGRAM_OPS } from './program-ops.ts';

describeOperators(PROGRAM_OPS);
