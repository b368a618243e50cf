import { describeOperators } from '../testing/describe-operators.ts';
import { ATTENTION_OPS } from './attention-ops.ts';

describeOperators(ATTENTION_OPS);
