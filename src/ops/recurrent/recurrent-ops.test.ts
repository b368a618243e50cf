import { describeOperators } from '../testing/describe-operators.ts';
import { KERNEL_FAMILIES } from '../tables/kernel-ops.ts';

describeOperators(KERNEL_FAMILIES.recurrent);
