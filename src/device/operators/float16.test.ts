import { describeOnDevices } from '../testing/describe-on-devices.ts';
import { FLOAT16_OPS } from '../testing/float16-ops.ts';

describeOnDevices(FLOAT16_OPS);
