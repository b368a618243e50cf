import { describeOperators } from '../testing/describe-operators.ts';
import { INDEXING_OPS } from './indexing-ops.ts';

describeOperators(INDEXING_OPS);
