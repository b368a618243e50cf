import { describeTextAborts } from './describe-aborts.ts';

describeTextAborts('webgpu');
