import { LINEAR_OPS } from '../../ops/linear/linear-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(LINEAR_OPS.map(withCases));
