import { describeOnDevices } from '../testing/describe-on-devices.ts';
import { ROW_BLOCK_OPS } from '../testing/row-block-ops.ts';

describeOnDevices(ROW_BLOCK_OPS);
