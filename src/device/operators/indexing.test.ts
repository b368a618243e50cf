import { INDEXING_OPS } from '../../ops/indexing/indexing-ops.ts';
import { withCases } from '../../ops/testing/tested-ops.ts';
import { describeOnDevices } from '../testing/describe-on-devices.ts';

describeOnDevices(INDEXING_OPS.map(withCases));
