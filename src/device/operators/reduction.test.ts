import { KERNEL_FAMILIES } from '../../ops/tables/kernel-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(KERNEL_FAMILIES.reduction.map(withCases));
