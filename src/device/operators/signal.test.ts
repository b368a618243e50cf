import { SIGNAL_OPS } from '../../ops/signal/signal-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(SIGNAL_OPS.map(withCases));
