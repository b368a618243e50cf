import { expose } from 'comlink';
import { ProgramService } from './program-service.ts';

expose(new ProgramService());
