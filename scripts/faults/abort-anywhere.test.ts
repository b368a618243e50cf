import { describeSessionAborts, describeTextAborts } from './describe-aborts.ts';

describeSessionAborts('host');
describeSessionAborts('wasm');
describeTextAborts('wasm');
