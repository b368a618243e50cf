import { ATTENTION_OPS } from '../../ops/attention/attention-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(ATTENTION_OPS.map(withCases));
