import { LINEAR_OPS } from '../../ops/linear/linear-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(LINEAR_OPS);
