import { RECURRENT_OPS } from '../../ops/recurrent/recurrent-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(RECURRENT_OPS.map(withCases));
