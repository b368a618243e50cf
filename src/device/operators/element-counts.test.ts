import { describeOnDevices } from '../testing/describe-on-devices.ts';
import { ELEMENT_COUNT_OPS } from '../testing/element-count-ops.ts';

describeOnDevices(ELEMENT_COUNT_OPS);
