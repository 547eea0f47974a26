/**
 * Teaches the process to import the way other hosts do, as soon as it is imported.
 *
 * @module
 */

import { registerCompat } from "./register.ts";

registerCompat();
