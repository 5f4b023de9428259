# Its environment is that of
#   clbemu serve --tls
#   eval "$(clbemu env)"
terraform {
  required_providers {
    alicloud = {
      source  = "aliyun/alicloud"
      version = ">= 1.240.0"
    }
  }
}

provider "alicloud" {}

resource "alicloud_slb_load_balancer" "web" {
  load_balancer_name   = "terraform"
  address_type         = "internet"
  instance_charge_type = "PayByCLCU"
}

resource "alicloud_slb_server_group" "web" {
  load_balancer_id = alicloud_slb_load_balancer.web.id
  name             = "web"
}

resource "alicloud_slb_listener" "http" {
  load_balancer_id = alicloud_slb_load_balancer.web.id
  frontend_port    = 80
  protocol         = "http"
  bandwidth        = -1
  server_group_id  = alicloud_slb_server_group.web.id
  health_check     = "on"
}

output "address" {
  value = alicloud_slb_load_balancer.web.address
}
