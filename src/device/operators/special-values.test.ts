import { describeOnDevices } from './describe-on-devices.ts';
import { SPECIAL_VALUE_OPS } from './special-value-ops.ts';

describeOnDevices(SPECIAL_VALUE_OPS);
