import { REDUCTION_OPS } from '../../ops/reduction/reduction-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(REDUCTION_OPS.map(withCases));
