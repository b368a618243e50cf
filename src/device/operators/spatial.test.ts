import { SPATIAL_OPS } from '../../ops/spatial/spatial-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(SPATIAL_OPS.map(withCases));
