import { describeOnDevices } from './describe-on-devices.ts';
import { ELEMENT_COUNT_OPS } from './element-count-ops.ts';

describeOnDevices(ELEMENT_COUNT_OPS);
