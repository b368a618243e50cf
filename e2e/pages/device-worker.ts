import { checkDevice } from './check-device.ts';

postMessage(await checkDevice());
