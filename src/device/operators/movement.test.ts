import { MOVEMENT_OPS } from '../../ops/movement/movement-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(MOVEMENT_OPS);
