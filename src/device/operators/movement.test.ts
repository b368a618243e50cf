import { MOVEMENT_OPS } from '../../ops/movement/movement-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(MOVEMENT_OPS.map(withCases));
