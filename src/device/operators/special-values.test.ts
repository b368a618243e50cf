import { describeOnDevices } from '../testing/describe-on-devices.ts';
import { SPECIAL_VALUE_OPS } from '../testing/special-value-ops.ts';

describeOnDevices(SPECIAL_VALUE_OPS);
