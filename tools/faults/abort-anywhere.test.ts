import {
  describeSessionAborts,
  describeTextAborts,
  describeTrainingAborts,
} from './describe-aborts.ts';

describeSessionAborts('host');
describeSessionAborts('wasm');
describeTextAborts('wasm');
describeTrainingAborts('wasm');
