import { PROGRAM_OPS } from '../../ops/program/program-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(PROGRAM_OPS.map(withCases));
