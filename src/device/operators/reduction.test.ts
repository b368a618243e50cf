import { REDUCTION_OPS } from '../../ops/reduction/reduction-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(REDUCTION_OPS);
