import { walkPages } from "@/testing/every-page";

walkPages("clusters");
