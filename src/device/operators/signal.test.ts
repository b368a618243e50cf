import { SIGNAL_OPS } from '../../ops/signal/signal-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(SIGNAL_OPS);
