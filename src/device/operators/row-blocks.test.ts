import { describeOnDevices } from './describe-on-devices.ts';
import { ROW_BLOCK_OPS } from './row-block-ops.ts';

describeOnDevices(ROW_BLOCK_OPS);
