import { ELEMENTWISE_OPS } from '../../ops/elementwise/elementwise-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(ELEMENTWISE_OPS.map(withCases));
