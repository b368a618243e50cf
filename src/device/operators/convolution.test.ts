import { CONVOLUTION_OPS } from '../../ops/convolution/convolution-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(CONVOLUTION_OPS);
