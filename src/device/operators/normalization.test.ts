import { NORMALIZATION_OPS } from '../../ops/normalization/normalization-ops.ts';
import { describeOnDevices } from './describe-on-devices.ts';

describeOnDevices(NORMALIZATION_OPS);
