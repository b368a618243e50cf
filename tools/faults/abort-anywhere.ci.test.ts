import { describeSessionAborts } from './describe-aborts.ts';

describeSessionAborts('webgpu');
