// For threads that share no memory: vite.config.ts sends no headers of isolation with this file, with which WebKit
// starts no worker.
import { serveOperators } from './serve-operators.ts';

serveOperators();
