import { NORMALIZATION_OPS } from '../../ops/normalization/normalization-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(NORMALIZATION_OPS.map(withCases));
