import { SPATIAL_OPS } from '../../ops/spatial/spatial-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(SPATIAL_OPS);
