import { CONVOLUTION_OPS } from '../../ops/convolution/convolution-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(CONVOLUTION_OPS.map(withCases));
