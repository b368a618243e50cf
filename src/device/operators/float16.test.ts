import { describeOnDevices } from './describe-on-devices.ts';
import { FLOAT16_OPS } from './float16-ops.ts';

describeOnDevices(FLOAT16_OPS);
