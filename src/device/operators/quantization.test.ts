import { QUANTIZATION_OPS } from '../../ops/quantization/quantization-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(QUANTIZATION_OPS.map(withCases));
