import { INDEXING_OPS } from '../../ops/indexing/indexing-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(INDEXING_OPS);
